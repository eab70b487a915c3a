// SPDX-License-Identifier: Apache-2.0
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Asks for a page again and again over one connection, by the JDK's client: "URL SECONDS". */
public class HttpLoad {
    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("usage: HttpLoad URL SECONDS");
            System.exit(2);
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(args[0])).version(HttpClient.Version.HTTP_1_1).build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                long end = System.nanoTime() + 1_000_000_000L;
                int answers = 0;
                for (; System.nanoTime() < end; answers++) {
                    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                    if (answer.statusCode() != 200) {
                        throw new IllegalStateException("status " + answer.statusCode());
                    }
                }
                System.out.println(answers + " answers in a second");
            }
        }
    }
}
