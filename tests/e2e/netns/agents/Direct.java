import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Calls a URL so many times and asks nobody for a proxy. Its roots are those of `javax.net.ssl.trustStore`. */
class Direct {
    public static void main(String[] args) throws Exception {
        var client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
        var request = HttpRequest.newBuilder(URI.create(args[0])).build();
        for (int left = Integer.parseInt(args[1]); left > 0; left--) {
            System.out.println(client.send(request, BodyHandlers.ofString()).statusCode());
        }
    }
}
