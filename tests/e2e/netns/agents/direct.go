// Calls a URL so many times with a transport that asks nobody for a proxy.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	client := &http.Client{Transport: &http.Transport{}}
	count, _ := strconv.Atoi(os.Args[2])
	for ; count > 0; count-- {
		answer, err := client.Get(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		fmt.Println(answer.StatusCode)
	}
}
