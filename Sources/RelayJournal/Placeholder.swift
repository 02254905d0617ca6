// RelayJournal
