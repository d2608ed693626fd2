// The agent of labelled_agent.py on openai-go: labelled_agent MANNER PROMPT
//
// A loop of one's own around the SDK's accumulator. Arguments that are no JSON are answered with the error
// of the parser, in place of the tool's result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
)

type fields = map[string]any

func log(line fields) {
	text, _ := json.Marshal(line)
	fmt.Fprintln(os.Stderr, "TRUTH", string(text))
}

func run(call openai.ChatCompletionMessageToolCallUnion) string {
	var arguments map[string]string
	if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil {
		return "error: " + err.Error()
	}
	switch call.Function.Name {
	case "search":
		query := arguments["query"]
		log(fields{"tool": "search", "arguments": fields{"query": query}})
		return strings.ToUpper(query[:1]) + query[1:] + " is a drink and costs 4.20 dollars."
	case "send_mail":
		log(fields{"tool": "send_mail", "arguments": fields{"to": arguments["to"], "text": arguments["text"]}})
		return "sent"
	}
	return "error: no tool " + call.Function.Name
}

func offer(name string, parameters ...string) openai.ChatCompletionToolUnionParam {
	properties := fields{}
	for _, one := range parameters {
		properties[one] = fields{"type": "string"}
	}
	return openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:       name,
		Parameters: openai.FunctionParameters{"type": "object", "properties": properties},
	})
}

func answer(prompt string, careful bool) (string, error) {
	client := openai.NewClient()
	asked := openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		Tools:    []openai.ChatCompletionToolUnionParam{offer("search", "query"), offer("send_mail", "to", "text")},
	}
	for range 8 {
		stream := client.Chat.Completions.NewStreaming(context.Background(), asked)
		whole := openai.ChatCompletionAccumulator{}
		for stream.Next() {
			whole.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			return "", err
		}
		if len(whole.Choices) == 0 {
			return "", errors.New("the model sent no choice")
		}
		choice := whole.Choices[0]
		if careful && choice.FinishReason != "stop" && choice.FinishReason != "tool_calls" {
			continue
		}
		if len(choice.Message.ToolCalls) == 0 {
			return choice.Message.Content, nil
		}
		asked.Messages = append(asked.Messages, choice.Message.ToParam())
		for _, call := range choice.Message.ToolCalls {
			asked.Messages = append(asked.Messages, openai.ToolMessage(run(call), call.ID))
		}
	}
	return "", errors.New("no end")
}

func main() {
	text, err := answer(os.Args[2], os.Args[1] == "careful")
	if err != nil {
		log(fields{"exit": 1, "error": err.Error()})
		os.Exit(1)
	}
	log(fields{"exit": 0, "answer": text})
	fmt.Println(text)
}
