import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HexFormat;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;

/** How a servlet on Tomcat reads a request. A line a value: the thing, the reader, the value in hexadecimal digits. */
public final class Readings extends HttpServlet {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        var said = new StringBuilder();
        try {
            read(request, said);
        } catch (Exception refused) {
            // What a parser refuses is read as nothing.
            response.setStatus(400);
            said.setLength(0);
        }
        response.getOutputStream().write(said.toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static void read(HttpServletRequest request, StringBuilder said) throws Exception {
        String path = request.getPathInfo() == null ? request.getServletPath() : request.getPathInfo();
        if (path.startsWith("/event/")) {
            String event = path.substring("/event/".length()).split("/", 2)[0];
            line(said, "event", "getPathInfo", event.isEmpty() ? null : event);
        }
        String type = request.getContentType() == null ? "" : request.getContentType().toLowerCase();
        if (type.contains("json")) {
            JsonNode node = JSON.readTree(request.getInputStream().readAllBytes());
            JsonNode email = node == null ? null : node.get("email");
            line(said, "email", "Jackson", email == null || email.isNull() ? null : email.asText());
        } else {
            line(said, "email", "getParameter", request.getParameter("email"));
        }
        for (String name : new String[] {"id", "event_id"}) {
            line(said, name, "getParameter", request.getParameter(name));
        }
        line(said, "user", "getHeader", request.getHeader("X-User"));
        for (Cookie cookie : request.getCookies() == null ? new Cookie[0] : request.getCookies()) {
            if (cookie.getName().equals("sid")) {
                line(said, "sid", "getCookies", cookie.getValue());
            }
        }
    }

    private static void line(StringBuilder said, String thing, String reader, String value) {
        if (value != null) {
            String hex = HexFormat.of().formatHex(value.getBytes(StandardCharsets.UTF_8));
            said.append(thing).append(' ').append(reader).append(' ').append(hex).append('\n');
        }
    }

    public static void main(String[] arguments) throws Exception {
        var tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory(Files.createDirectories(java.nio.file.Path.of(arguments[0])), "tomcat").toString());
        tomcat.setPort(Integer.parseInt(arguments[1]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        Context context = tomcat.addContext("", null);
        Wrapper wrapper = Tomcat.addServlet(context, "readings", new Readings());
        wrapper.setMultipartConfigElement(new MultipartConfigElement(""));
        context.addServletMappingDecoded("/*", "readings");
        tomcat.start();
        System.out.println(tomcat.getConnector().getLocalPort());
        tomcat.getServer().await();
    }
}
