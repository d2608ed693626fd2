// An agent on openai-go that has a model call a tool, in a stream.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
)

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func main() {
	schema := shared.FunctionParameters{
		"type":       "object",
		"properties": map[string]any{"expression": map[string]any{"type": "string"}},
		"required":   []string{"expression"},
	}
	function := shared.FunctionDefinitionParam{Name: "calculator", Parameters: schema}
	client := openai.NewClient()
	stream := client.Chat.Completions.NewStreaming(context.Background(), openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is 6*7?")},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(function)},
	})
	whole, events := openai.ChatCompletionAccumulator{}, []string{}
	for stream.Next() {
		events = append(events, string(stream.Current().Object))
		whole.AddChunk(stream.Current())
	}
	if stream.Err() != nil {
		fmt.Fprintln(os.Stderr, stream.Err())
		os.Exit(1)
	}
	calls := []call{}
	for _, one := range whole.Choices[0].Message.ToolCalls {
		calls = append(calls, call{one.Function.Name, json.RawMessage(one.Function.Arguments)})
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"calls": calls, "events": events})
}
