// How Express reads a request: `node readings.cjs express4|express5 PORT`.
const [package_, port] = process.argv.slice(2);
const express = require(package_);
const multer = require("multer");
const cookies = require("cookie-parser");
const lines = require("./lines.cjs");

const app = express();
app.disable("x-powered-by");
app.use(cookies(), express.json(), express.urlencoded({ extended: true }), multer().any());
const answer = (request, response) => {
  const body = request.body && typeof request.body === "object" ? request.body : {};
  const own = (name) => (Object.hasOwn(body, name) ? body[name] : undefined);
  let said = lines("event", "params", request.params.event);
  for (const name of ["id", "event_id"]) {
    said += lines(name, "query", request.query[name]);
    said += lines(name, "body", own(name));
  }
  said += lines("user", "headers", request.headers["x-user"]);
  said += lines("sid", "cookies", request.cookies.sid);
  said += lines("email", "body", own("email"));
  response.type("text/plain").send(said);
};
app.all("/event/:event", answer);
app.all(package_ === "express4" ? "/event/:event/*" : "/event/:event/*rest", answer);
app.use(answer);
// What a parser refuses is read as nothing.
app.use((error, request, response, next) => response.status(error.status ?? 500).type("text/plain").send(""));
const server = app.listen(Number(port), "127.0.0.1", () => console.log(server.address().port));
