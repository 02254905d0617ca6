// RelayRules
