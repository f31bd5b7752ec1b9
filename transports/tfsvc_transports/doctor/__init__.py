"""Looking for what is wrong with a cluster's network and machines: facts are gathered first, then judged."""
