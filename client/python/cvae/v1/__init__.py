"""The messages of cvae.v1, generated from proto/cvae/v1/cvae.proto."""
