"""Files as TensorFlow writes them: byte streams, records, chunks of elements, directories of chunks."""
