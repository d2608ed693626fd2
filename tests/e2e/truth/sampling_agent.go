// Asks a model the same several times over net/http: `sampling_agent parallel COUNT QUESTION`;
// with `serial` it asks again at once what failed.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

const url = "https://api.openai.com/v1/chat/completions"
const body = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}`

func ask() string {
	request, _ := http.NewRequest("POST", url, strings.NewReader(fmt.Sprintf(body, os.Args[3])))
	request.Header.Set("content-type", "application/json")
	request.Header.Set("authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.Status
}

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	if os.Args[1] == "serial" {
		for n := 0; n < count; n++ {
			fmt.Println(ask())
		}
		return
	}
	var wait sync.WaitGroup
	for n := 0; n < count; n++ {
		wait.Add(1)
		go func() { defer wait.Done(); fmt.Println(ask()) }()
	}
	wait.Wait()
}
