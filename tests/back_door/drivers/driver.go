// Answers each line of standard input by the example.
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"test/backdoor"
)

var keys = map[string][]byte{
	"2026-11": []byte("a secret that gate and shop share!"),
	"old":     []byte("the secret that was used before it"),
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t")
		request := &http.Request{Method: part[0], RequestURI: part[1], Header: http.Header{}}
		if part[2] != "" {
			request.Header.Set("Ropeline-Session", part[2])
		}
		request.Header.Set("Ropeline-Signature", part[3])
		secs, _ := strconv.ParseInt(part[4], 10, 64)
		if backdoor.IsSigned(request, keys, time.Unix(secs, 0), time.Minute) {
			fmt.Println("yes")
		} else {
			fmt.Println("no")
		}
	}
}
