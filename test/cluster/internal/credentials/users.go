package credentials

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
)

// User is known to the API server by its bearer token.
type User struct {
	Name   string
	Groups []string
	Token  string
}

// NewUser makes a user with a random token.
func NewUser(name string, groups ...string) User {
	return User{Name: name, Groups: groups, Token: rand.Text()}
}

// TokenFile is what --token-auth-file reads.
func TokenFile(users ...User) []byte {
	var out strings.Builder
	for _, u := range users {
		fmt.Fprintf(&out, "%s,%s,%s", u.Token, u.Name, u.Name)
		if len(u.Groups) > 0 {
			fmt.Fprintf(&out, ",%q", strings.Join(u.Groups, ","))
		}
		out.WriteByte('\n')
	}
	return []byte(out.String())
}

// Kubeconfig lets a user in. The bytes depend on no other file, so they can be copied anywhere.
func Kubeconfig(server string, ca []byte, u User) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %[3]s
  user:
    token: %s
contexts:
- name: cluster
  context: {cluster: cluster, user: %[3]s}
current-context: cluster
`, server, base64.StdEncoding.EncodeToString(ca), u.Name, u.Token)
}
