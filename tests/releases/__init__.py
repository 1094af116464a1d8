"""A store, a bundle and a protocol of every release; later versions must open all of them."""
