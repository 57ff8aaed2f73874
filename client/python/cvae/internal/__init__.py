"""Messages of this package alone, generated from proto/cvae/internal."""
