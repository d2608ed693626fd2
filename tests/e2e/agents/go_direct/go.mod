module direct

go 1.19
