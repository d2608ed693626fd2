// SDKs of Java as programs of their own: Agent SDK WAY/CASE…, WAY `whole` or `stream`.
//
// Prints one JSON object: for each case what came, or the class of what was thrown. All cases are asked at
// once, each by a client of its own.

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class Agent {
    private static final String KEY = "sk-test-key-of-nobody";

    interface Sdk {
        Map<String, String> ask(String question, boolean stream) throws Throwable;
    }

    static Map<String, String> seen(String text, String finish) {
        Map<String, String> found = new LinkedHashMap<>();
        found.put("text", text);
        found.put("finish", finish);
        return found;
    }

    static Map<String, String> openai(String question, boolean stream) {
        OpenAIClient client = OpenAIOkHttpClient.fromEnv();
        ChatCompletionCreateParams asked = ChatCompletionCreateParams.builder()
                .model("gpt-4o-mini")
                .addUserMessage(question)
                .build();
        if (!stream) {
            var choice = client.chat().completions().create(asked).choices().get(0);
            return seen(choice.message().content().orElse(""), choice.finishReason().asString());
        }
        StringBuilder text = new StringBuilder();
        String[] finish = {null};
        try (var events = client.chat().completions().createStreaming(asked)) {
            for (ChatCompletionChunk event : (Iterable<ChatCompletionChunk>) events.stream()::iterator) {
                event.choices().forEach(choice -> {
                    text.append(choice.delta().content().orElse(""));
                    choice.finishReason().ifPresent(reason -> finish[0] = reason.asString());
                });
            }
        }
        return seen(text.toString(), finish[0]);
    }

    static Map<String, String> anthropic(String question, boolean stream) {
        AnthropicClient client = AnthropicOkHttpClient.builder().apiKey(KEY).build();
        MessageCreateParams asked = MessageCreateParams.builder()
                .model("claude-sonnet-4-5")
                .maxTokens(500)
                .addUserMessage(question)
                .build();
        if (!stream) {
            var answer = client.messages().create(asked);
            String text = answer.content().get(0).text().map(block -> block.text()).orElse("");
            return seen(text, answer.stopReason().map(Object::toString).orElse(null));
        }
        StringBuilder text = new StringBuilder();
        String[] finish = {null};
        try (var events = client.messages().createStreaming(asked)) {
            for (RawMessageStreamEvent event : (Iterable<RawMessageStreamEvent>) events.stream()::iterator) {
                event.contentBlockDelta().flatMap(delta -> delta.delta().text()).ifPresent(
                        delta -> text.append(delta.text()));
                event.messageDelta().flatMap(delta -> delta.delta().stopReason()).ifPresent(
                        reason -> finish[0] = reason.toString());
            }
        }
        return seen(text.toString(), finish[0]);
    }

    static Map<String, String> langchain4j(String question, boolean stream) throws Throwable {
        if (!stream) {
            var model = OpenAiChatModel.builder().apiKey(KEY).modelName("gpt-4o-mini").build();
            return seen(model.chat(question), null);
        }
        var model = OpenAiStreamingChatModel.builder().apiKey(KEY).modelName("gpt-4o-mini").build();
        CompletableFuture<ChatResponse> done = new CompletableFuture<>();
        model.chat(question, new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String part) {}

            @Override
            public void onCompleteResponse(ChatResponse answer) {
                done.complete(answer);
            }

            @Override
            public void onError(Throwable error) {
                done.completeExceptionally(error);
            }
        });
        try {
            ChatResponse answer = done.get();
            Object finish = answer.metadata().finishReason();
            return seen(answer.aiMessage().text(), finish == null ? null : finish.toString());
        } catch (java.util.concurrent.ExecutionException error) {
            throw error.getCause();
        }
    }

    static final Map<String, Sdk> SDKS = Map.of(
            "openai-java", Agent::openai, "anthropic-java", Agent::anthropic, "langchain4j", Agent::langchain4j);

    static Map<String, String> met(String sdk, String name) {
        try {
            return SDKS.get(sdk).ask("Tell me about rivers (" + name + ").", name.startsWith("stream/"));
        } catch (Throwable error) {
            Map<String, String> found = new LinkedHashMap<>();
            found.put("error", error.getClass().getSimpleName());
            found.put("message", String.valueOf(error.getMessage()));
            return found;
        }
    }

    public static void main(String[] given) throws Exception {
        List<String> cases = Arrays.asList(given).subList(1, given.length);
        ExecutorService pool = Executors.newFixedThreadPool(cases.size());
        Map<String, Future<Map<String, String>>> asked = new LinkedHashMap<>();
        cases.forEach(name -> asked.put(name, pool.submit(() -> met(given[0], name))));
        Map<String, Map<String, String>> found = new LinkedHashMap<>();
        for (var one : asked.entrySet()) {
            found.put(one.getKey(), one.getValue().get());
        }
        System.out.println(new ObjectMapper().writeValueAsString(found));
        System.exit(0);
    }
}
