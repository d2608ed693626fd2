// Calls one after the other over net/http, and a line of JSON for each.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
)

func main() {
	proxy, ca, target := os.Args[1], os.Args[2], os.Args[3]
	calls, _ := strconv.Atoi(os.Args[4])
	body, _ := os.ReadFile(os.Args[5])
	pool := x509.NewCertPool()
	pem, _ := os.ReadFile(ca)
	pool.AppendCertsFromPEM(pem)
	through, _ := url.Parse(proxy)
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	for range make([]int, calls) {
		told := map[string]any{"status": 0, "bytes": 0, "error": ""}
		answer, err := client.Post(target, "application/json", bytes.NewReader(body))
		if err == nil {
			var came []byte
			told["status"], told["protocol"] = answer.StatusCode, answer.Proto
			came, err = io.ReadAll(answer.Body)
			told["bytes"] = len(came)
			answer.Body.Close()
		}
		if err != nil {
			told["error"] = err.Error()
		}
		line, _ := json.Marshal(told)
		fmt.Println(string(line))
	}
}
