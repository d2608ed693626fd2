// Go's HTTP/1.1 server, plain and with TLS: CERTIFICATE. Prints its two ports, then a line for each request.
package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
)

func main() {
	var lock sync.Mutex
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, _ := json.Marshal(r.Method + " " + r.RequestURI)
		lock.Lock()
		fmt.Println(string(line))
		lock.Unlock()
		io.Copy(io.Discard, r.Body)
		w.Write([]byte("ok"))
	})
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[1])
	if err != nil {
		panic(err)
	}
	plain, _ := net.Listen("tcp", "127.0.0.1:0")
	secure, _ := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	ports := []int{plain.Addr().(*net.TCPAddr).Port, secure.Addr().(*net.TCPAddr).Port}
	line, _ := json.Marshal(ports)
	fmt.Println(string(line))
	go http.Serve(plain, serve)
	http.Serve(secure, serve)
}
