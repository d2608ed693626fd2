// A TLS client: PORT NAME ROOT. Exits with 1 where it does not take the server's certificate.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

func main() {
	pem, _ := os.ReadFile(os.Args[3])
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	connection, err := tls.Dial("tcp", "127.0.0.1:"+os.Args[1], &tls.Config{RootCAs: roots, ServerName: os.Args[2]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	connection.Close()
}
