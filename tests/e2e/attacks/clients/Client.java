import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import javax.net.ssl.*;

/** A TLS client: PORT NAME ROOT. Exits with 1 where it does not take the server's certificate. */
class Client {
    public static void main(String[] asked) throws Exception {
        KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
        roots.load(null, null);
        try (FileInputStream pem = new FileInputStream(asked[2])) {
            roots.setCertificateEntry("root", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(roots);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        var raw = new java.net.Socket("127.0.0.1", Integer.parseInt(asked[0]));
        var socket = (SSLSocket) context.getSocketFactory().createSocket(raw, asked[1], raw.getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        try (socket) {
            socket.startHandshake();
        } catch (SSLException error) {
            System.out.println(error.getMessage());
            System.exit(1);
        }
    }
}
