package scenario

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shortestSecret is how long a value must be to be looked for in other text.
// Shorter ones are found everywhere and hardly secret.
const shortestSecret = 4

// shortestLine is the same for a line of a value: many files have the same short ones.
const shortestLine = 8

// shortestInKey is the same for the keys of maps.
const shortestInKey = 10

// lastApplied is where kubectl keeps a copy of the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// secrets are the objects of which the values must not be shown.
var secrets = schema.GroupResource{Resource: "secrets"}

// mask hides the values of Secrets wherever they are shown: their own data, and text that
// a rule made of them.
type mask struct {
	values map[string]bool
}

// learn takes the values of a Secret, or of a body that is written to one.
func (m *mask) learn(secret any) {
	switch body := secret.(type) {
	case map[string]any:
		for key, value := range body {
			if isData(key) {
				m.collect(value)
			}
		}
	case []any:
		for _, step := range body {
			if field, value := written(step); isData(field) {
				m.collect(value)
			}
		}
	}
}

// collect takes a value as it is and as the other of the two fields of a
// Secret would have it.
func (m *mask) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, element := range value {
			m.collect(element)
		}
	case string:
		m.add(value)
		m.add(base64.StdEncoding.EncodeToString([]byte(value)))
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
			m.add(string(decoded))
		}
	}
}

// add takes a value as a whole, and each line of it.
func (m *mask) add(value string) {
	m.look(value)
	for line := range strings.SplitSeq(value, "\n") {
		if line = strings.TrimSpace(line); len(line) >= shortestLine {
			m.look(line)
		}
	}
}

// look has a text be looked for in all spellings. What is in JSON, or in quotes, may be so
// twice: a reason quotes a text that a rule made with toJSON.
func (m *mask) look(text string) {
	if len(text) < shortestSecret || isFrame(text) {
		return
	}
	if m.values == nil {
		m.values = map[string]bool{}
	}
	for _, once := range spellings(text) {
		for _, twice := range spellings(once) {
			m.values[twice] = true
		}
	}
}

// isFrame tells the first and last line of PEM, which keys and public certificates share.
func isFrame(line string) bool {
	return strings.HasSuffix(line, "-----") && (strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END "))
}

// isData tells the two fields that hold the values of a Secret.
func isData(key string) bool { return key == "data" || key == "stringData" }

// written returns what a step of a JSON patch writes, and in which field of the
// object. No rule may write the object as a whole.
func written(step any) (field string, value any) {
	fields, _ := step.(map[string]any)
	at, _ := fields["path"].(string)
	field, _, _ = strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return field, fields["value"]
}

// hide masks what is shown of a phase.
func (m *mask) hide(p *Phase) {
	for i := range p.Decisions {
		decision := &p.Decisions[i]
		if hidden := m.text(decision.Reason); hidden != decision.Reason {
			decision.Reason, decision.Err = hidden, nil
		}
	}
	for _, writes := range [][]Write{p.Writes, p.Audited} {
		for i := range writes {
			w := &writes[i]
			w.Body, w.Answer = m.body(w.Object, w.Body), m.text(w.Answer)
		}
	}
	for i := range p.Events {
		event := &p.Events[i]
		event.Reason, event.Action, event.Message = m.text(event.Reason), m.text(event.Action), m.text(event.Message)
	}
	for i := range p.Objects {
		object := &p.Objects[i]
		object.Now, _ = m.body(object.Object, object.Now).(map[string]any)
	}
}

// body hides what is in an object of the name, or in a body that is written to it.
func (m *mask) body(name string, body any) any {
	if !isSecret(name) {
		return m.other(body)
	}
	steps, ok := body.([]any)
	if !ok {
		content, _ := body.(map[string]any)
		return m.object(content)
	}
	out := make([]any, len(steps))
	for i, step := range steps {
		out[i] = m.step(step)
	}
	return out
}

// isSecret goes by the form of [plan.Object.String]: no other resource has this name in
// the groups that a simulated cluster has by itself, and to mask too much does no harm.
func isSecret(name string) bool { return strings.HasPrefix(name, "secrets ") }

// step hides the value of one step of a JSON patch.
func (m *mask) step(step any) any {
	out := m.other(step)
	fields, ok := out.(map[string]any)
	if field, value := written(step); ok && isData(field) && value != nil {
		fields["value"] = m.data(value)
	}
	return out
}

// object hides what the data of a Secret holds, and looks for it elsewhere.
func (m *mask) object(content map[string]any) map[string]any {
	if content == nil {
		return nil
	}
	out := make(map[string]any, len(content))
	for key, value := range content {
		if isData(key) {
			out[key] = m.data(value)
		} else {
			out[key] = m.other(value)
		}
	}
	return out
}

// data hides every value but not which ones there are. A null says that one is
// to be removed.
func (m *mask) data(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			out[key] = m.data(element)
		}
		return out
	default:
		return m.masked(fmt.Sprint(value))
	}
}

func (m *mask) other(value any) any {
	switch value := value.(type) {
	case string:
		return m.text(value)
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = m.other(element)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			shown := m.key(key)
			out[shown] = m.other(element)
			if text, ok := element.(string); ok && key == lastApplied {
				out[shown] = m.masked(text)
			}
		}
		return out
	default:
		return value
	}
}

// text hides the whole of a text that holds a secret value.
func (m *mask) text(text string) string {
	for value := range m.values {
		if strings.Contains(text, value) {
			return m.masked(text)
		}
	}
	return text
}

// key hides a key that holds a secret value, unless that is short: words such as name
// and admin are values of many a Secret, and an object without its keys says nothing.
func (m *mask) key(key string) string {
	for value := range m.values {
		if len(value) >= shortestInKey && strings.Contains(key, value) {
			return m.masked(key)
		}
	}
	return key
}

// masked stands for a value. The fingerprint tells values apart, and lets a guess be
// confirmed: the fixtures of tests are no secret.
func (m *mask) masked(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "(masked " + hex.EncodeToString(sum[:4]) + ")"
}
