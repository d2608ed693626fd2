"""gRPC: protobuf messages, and services that nobody here knows."""
