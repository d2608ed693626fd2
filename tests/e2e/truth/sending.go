// The program of sending.py with Go's net/http: sending GROUPS CODE
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type request struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func send(one request) {
	made, _ := http.NewRequest("POST", one.URL, strings.NewReader(one.Body))
	for name, value := range one.Headers {
		made.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(made)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer got.Body.Close()
	io.Copy(io.Discard, got.Body)
}

func main() {
	var groups [][]request
	if err := json.Unmarshal([]byte(os.Args[1]), &groups); err != nil {
		panic(err)
	}
	code, _ := strconv.Atoi(os.Args[2])
	for _, group := range groups {
		var wait sync.WaitGroup
		for _, one := range group {
			wait.Add(1)
			go func() {
				defer wait.Done()
				send(one)
			}()
		}
		wait.Wait()
	}
	os.Exit(code)
}
