package worlds

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// documented is the world of which docs/reliability.md has the transcript.
var documented = plan{
	seed: 1, replicas: 1,
	steps: []step{{deed: create, name: "a", value: 1, then: time.Minute}, {deed: remove, name: "a", then: time.Minute}},
	disturbances: []disturbance{
		{of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: time.Second},
		{of: patches, resource: configmaps.Resource, from: 1, to: 1, fault: LostAnswer},
		{of: deletes, from: 1, to: 1, fault: CrashAfter},
	},
}

// told are the requests that the documentation has: writes, and reads of single objects of users. It has neither their numbers nor queries.
var told = regexp.MustCompile(`(?m)^ *\d+ (\S+ \S+ +(?:(?:POST|PATCH|PUT|DELETE) +/ap|GET +/\S+/shop/(?:configmaps|deployments)/)[^ ?]*)\S*( .*)$`)

// TestDocumented holds that the documented world is one that happens. The Go runtime draws lots, too, so it is lived until it does.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	server, workload, text := newServer(t), children(load(t)), ""
	for range 200 {
		wrong, transcript, _ := play(t, server, workload, documented)
		if wrong != "" {
			t.Fatal(wrong)
		}
		text = documented.String() + "\n"
		for _, request := range told.FindAllStringSubmatch(transcript, -1) {
			if !strings.Contains(request[1], "authorization") {
				text += request[1] + request[2] + "\n"
			}
		}
		if strings.Contains(string(page), "```text\n"+text+"```\n") {
			return
		}
	}
	t.Errorf("docs/reliability.md has none of the transcripts of this world. The last one:\n%s", text)
}
