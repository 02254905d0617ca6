// RelayApp
