// Calls the model with both HTTP clients of the JDK.
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

public class Client {
    public static void main(String[] args) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(args[0]))
            .header("content-type", "application/json")
            .header("authorization", "Bearer any")
            .POST(HttpRequest.BodyPublishers.ofString(args[1]))
            .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        say(answer.statusCode(), answer.body());

        HttpURLConnection old = (HttpURLConnection) URI.create(args[0]).toURL().openConnection();
        old.setDoOutput(true);
        old.setRequestProperty("content-type", "application/json");
        old.setRequestProperty("authorization", "Bearer any");
        old.getOutputStream().write(args[1].getBytes(StandardCharsets.UTF_8));
        say(old.getResponseCode(), new String(old.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    private static void say(int status, String body) {
        System.out.println(status + (body.contains("\"chat.completion\"") ? " chat.completion" : " " + body));
    }
}
