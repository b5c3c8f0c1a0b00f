// Command readings says how Go's net/http reads a request. A line a value: the thing, the reader, the value in hexadecimal digits.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

func line(w io.Writer, thing, reader, value string, has bool) {
	if has {
		fmt.Fprintf(w, "%s %s %s\n", thing, reader, hex.EncodeToString([]byte(value)))
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	if rest := strings.TrimPrefix(r.URL.Path, "/event/"); rest != r.URL.Path {
		event := strings.Split(rest, "/")[0]
		line(w, "event", "URL.Path", event, event != "")
	}
	query := r.URL.Query()
	kind := strings.ToLower(r.Header.Get("Content-Type"))
	if strings.Contains(kind, "json") {
		// Names are matched in any letter case (encoding/json).
		var body struct{ Email any }
		if json.NewDecoder(r.Body).Decode(&body) == nil && body.Email != nil {
			line(w, "email", "json", fmt.Sprint(body.Email), true)
		}
	} else {
		r.ParseMultipartForm(1 << 20)
		line(w, "email", "PostForm", r.PostForm.Get("email"), r.PostForm.Has("email"))
		if r.MultipartForm != nil && len(r.MultipartForm.Value["email"]) > 0 {
			line(w, "email", "MultipartForm", r.MultipartForm.Value["email"][0], true)
		}
	}
	for _, name := range []string{"id", "event_id"} {
		line(w, name, "Query", query.Get(name), query.Has(name))
		line(w, name, "Form", r.Form.Get(name), r.Form.Has(name))
	}
	line(w, "user", "Header", r.Header.Get("X-User"), r.Header.Get("X-User") != "")
	if cookie, err := r.Cookie("sid"); err == nil {
		line(w, "sid", "Cookie", cookie.Value, true)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, http.HandlerFunc(answer))
}
