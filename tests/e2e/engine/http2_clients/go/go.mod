module faultwire/tests/http2client

go 1.21
