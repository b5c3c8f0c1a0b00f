// How Koa reads a request, with its body parser, its router and Multer: `node koa.cjs PORT`.
const Koa = require("koa");
const parser = require("koa-bodyparser");
const multer = require("@koa/multer");
const { Router } = require("@koa/router");
const lines = require("./lines.cjs");

const app = new Koa();
app.silent = true;
const router = new Router();
const answer = (context) => {
  const body = context.request.body && typeof context.request.body === "object" ? context.request.body : {};
  const own = (name) => (Object.hasOwn(body, name) ? body[name] : undefined);
  let said = lines("event", "params", context.params?.event);
  for (const name of ["id", "event_id"]) {
    said += lines(name, "query", context.query[name]);
    said += lines(name, "body", own(name));
  }
  said += lines("user", "get", context.get("X-User") || undefined);
  said += lines("sid", "cookies", context.cookies.get("sid"));
  said += lines("email", "body", own("email"));
  context.type = "text/plain";
  context.body = said;
};
router.all("/event/:event", answer);
router.all("/event/:event/*rest", answer);
app.use(parser()).use(multer().any()).use(router.routes()).use(answer);
const server = app.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(server.address().port));
