// WebSocketCodec
