// SDKs of Go as programs of their own: agent SDK WAY/CASE…, WAY `whole` or `stream`.
//
// Prints one JSON object: for each case what came, or the type of what was returned as an error. All cases
// are asked at once, each by a client of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	sashabaranov "github.com/sashabaranov/go-openai"
	"google.golang.org/genai"
)

const key = "sk-test-key-of-nobody"

type seen struct {
	Text    string `json:"text"`
	Finish  string `json:"finish,omitempty"`
	Error   string `json:"error,omitempty"`
	Message string `json:"message,omitempty"`
}

var ctx = context.Background()

func openaiGo(question string, stream bool) (found seen, err error) {
	client := openai.NewClient()
	asked := openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}
	if !stream {
		answer, err := client.Chat.Completions.New(ctx, asked)
		if err != nil {
			return found, err
		}
		return seen{Text: answer.Choices[0].Message.Content, Finish: answer.Choices[0].FinishReason}, nil
	}
	events := client.Chat.Completions.NewStreaming(ctx, asked)
	for events.Next() {
		for _, choice := range events.Current().Choices {
			found.Text += choice.Delta.Content
			found.Finish += choice.FinishReason
		}
	}
	return found, events.Err()
}

func anthropicGo(question string, stream bool) (found seen, err error) {
	client := anthropic.NewClient(anthropicoption.WithAPIKey(key))
	asked := anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 500,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
	}
	if !stream {
		answer, err := client.Messages.New(ctx, asked)
		if err != nil {
			return found, err
		}
		return seen{Text: answer.Content[0].Text, Finish: string(answer.StopReason)}, nil
	}
	events := client.Messages.NewStreaming(ctx, asked)
	for events.Next() {
		event := events.Current()
		found.Text += event.Delta.Text
		found.Finish += string(event.Delta.StopReason)
	}
	return found, events.Err()
}

func genaiGo(question string, stream bool) (found seen, err error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI})
	if err != nil {
		return found, err
	}
	if !stream {
		answer, err := client.Models.GenerateContent(ctx, "gemini-2.5-flash", genai.Text(question), nil)
		if err != nil {
			return found, err
		}
		return seen{Text: answer.Text(), Finish: string(answer.Candidates[0].FinishReason)}, nil
	}
	for event, err := range client.Models.GenerateContentStream(ctx, "gemini-2.5-flash", genai.Text(question), nil) {
		if err != nil {
			return found, err
		}
		found.Text += event.Text()
		for _, one := range event.Candidates {
			found.Finish += string(one.FinishReason)
		}
	}
	return found, nil
}

func goOpenai(question string, stream bool) (found seen, err error) {
	client := sashabaranov.NewClient(key)
	asked := sashabaranov.ChatCompletionRequest{
		Model:    "gpt-4o-mini",
		Messages: []sashabaranov.ChatCompletionMessage{{Role: "user", Content: question}},
	}
	if !stream {
		answer, err := client.CreateChatCompletion(ctx, asked)
		if err != nil {
			return found, err
		}
		return seen{Text: answer.Choices[0].Message.Content, Finish: string(answer.Choices[0].FinishReason)}, nil
	}
	events, err := client.CreateChatCompletionStream(ctx, asked)
	if err != nil {
		return found, err
	}
	defer events.Close()
	for {
		event, err := events.Recv()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		for _, choice := range event.Choices {
			found.Text += choice.Delta.Content
			found.Finish += string(choice.FinishReason)
		}
	}
}

var sdks = map[string]func(string, bool) (seen, error){
	"openai-go":        openaiGo,
	"anthropic-sdk-go": anthropicGo,
	"genai":            genaiGo,
	"go-openai":        goOpenai,
}

func met(sdk, name string) seen {
	found, err := sdks[sdk](fmt.Sprintf("Tell me about rivers (%s).", name), strings.HasPrefix(name, "stream/"))
	if err != nil {
		message := err.Error()
		return seen{Error: strings.TrimPrefix(fmt.Sprintf("%T", err), "*"), Message: message[:min(len(message), 200)]}
	}
	return found
}

func main() {
	sdk, cases := os.Args[1], os.Args[2:]
	var mutex sync.Mutex
	var group sync.WaitGroup
	found := map[string]seen{}
	for _, name := range cases {
		group.Go(func() {
			one := met(sdk, name)
			mutex.Lock()
			defer mutex.Unlock()
			found[name] = one
		})
	}
	group.Wait()
	text, _ := json.Marshal(found)
	fmt.Println(string(text))
}
