// The agent of labelled_agent.py on openai-java: LabelledAgent MANNER PROMPT
//
// A loop of one's own around the SDK's accumulator, which reads arguments into classes. What either raises
// ends the agent.

import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class LabelledAgent {
    private static final ObjectMapper JSON = new ObjectMapper();

    static class Search {
        public String query;
    }

    static class SendMail {
        public String to;
        public String text;
    }

    static void log(Map<String, ?> line) throws Exception {
        System.err.println("TRUTH " + JSON.writeValueAsString(line));
    }

    static String run(ChatCompletionMessageFunctionToolCall.Function call) throws Exception {
        if (call.name().equals("search")) {
            String query = call.arguments(Search.class).query;
            log(Map.of("tool", "search", "arguments", Map.of("query", query)));
            return query.substring(0, 1).toUpperCase() + query.substring(1) + " is a drink and costs 4.20 dollars.";
        }
        SendMail mail = call.arguments(SendMail.class);
        log(Map.of("tool", "send_mail", "arguments", Map.of("to", mail.to, "text", mail.text)));
        return "sent";
    }

    static ChatCompletionFunctionTool offer(String name, List<String> parameters) {
        Map<String, Object> properties = new LinkedHashMap<>();
        parameters.forEach(one -> properties.put(one, Map.of("type", "string")));
        FunctionParameters schema = FunctionParameters.builder()
                .putAdditionalProperty("type", JsonValue.from("object"))
                .putAdditionalProperty("properties", JsonValue.from(properties))
                .build();
        return ChatCompletionFunctionTool.builder()
                .function(FunctionDefinition.builder().name(name).parameters(schema).build())
                .build();
    }

    static String answer(String prompt, boolean careful) throws Exception {
        OpenAIClient client = OpenAIOkHttpClient.fromEnv();
        ChatCompletionCreateParams.Builder asked = ChatCompletionCreateParams.builder()
                .model("gpt-4o-mini")
                .addUserMessage(prompt)
                .addTool(offer("search", List.of("query")))
                .addTool(offer("send_mail", List.of("to", "text")));
        for (int turn = 0; turn < 8; turn++) {
            ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
            try (StreamResponse<ChatCompletionChunk> stream =
                    client.chat().completions().createStreaming(asked.build())) {
                stream.stream().forEach(whole::accumulate);
            }
            ChatCompletion.Choice choice = whole.chatCompletion().choices().get(0);
            String reason = choice.finishReason().asString();
            if (careful && !reason.equals("stop") && !reason.equals("tool_calls")) {
                continue;
            }
            ChatCompletionMessage message = choice.message();
            List<ChatCompletionMessageToolCall> calls = message.toolCalls().orElse(List.of());
            if (calls.isEmpty()) {
                return message.content().orElse("");
            }
            asked.addMessage(message);
            for (ChatCompletionMessageToolCall call : calls) {
                ChatCompletionMessageFunctionToolCall made = call.asFunction();
                asked.addMessage(ChatCompletionToolMessageParam.builder()
                        .toolCallId(made.id())
                        .content(run(made.function()))
                        .build());
            }
        }
        throw new IllegalStateException("no end");
    }

    public static void main(String[] given) throws Exception {
        try {
            String text = answer(given[1], given[0].equals("careful"));
            log(Map.of("exit", 0, "answer", text));
            System.out.println(text);
        } catch (Exception error) {
            log(Map.of("exit", 1, "error", error.getClass().getSimpleName()));
            System.exit(1);
        }
        System.exit(0);
    }
}
