print("chirp-relay")
