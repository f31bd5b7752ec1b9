"""What travels on the wire: the schema and the codecs of tensors, specs, elements, frames and graphs."""
