// RelayStream
