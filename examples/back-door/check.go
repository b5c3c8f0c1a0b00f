// Package backdoor tells whether the gate forwarded a request; docs/guides/back-door.md says more.
package backdoor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var form = regexp.MustCompile(`\Av1;k=([a-z0-9-]{1,16});t=([0-9]{1,12});h=([0-9a-f]{64})\z`)

// IsSigned wants the request as the server read it.
func IsSigned(r *http.Request, keys map[string][]byte, now time.Time, within time.Duration) bool {
	part := form.FindStringSubmatch(r.Header.Get("Ropeline-Signature"))
	if part == nil {
		return false
	}
	secs, _ := strconv.ParseInt(part[2], 10, 64)
	key, known := keys[part[1]]
	if !known || now.Sub(time.Unix(secs, 0)).Abs() > within {
		return false
	}
	text := []string{"ropeline-signature-v1", part[2], r.Method, r.RequestURI, r.Header.Get("Ropeline-Session")}
	right := hmac.New(sha256.New, key)
	right.Write([]byte(strings.Join(text, "\n")))
	given, _ := hex.DecodeString(part[3])
	return hmac.Equal(right.Sum(nil), given)
}
