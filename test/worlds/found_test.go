package worlds

import (
	"slices"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// handedOver has the second leader make the Pod of a Job.
var handedOver = slices.Clip([]step{
	{deed: succeed, name: "c", value: 3, then: 3 * time.Second},
	{deed: create, name: "a", value: 3, requests: 6},
	{deed: restart, name: "a", value: 4, requests: 1},
	{deed: create, name: "b", then: time.Second},
})

// found are plans that went wrong, as small as they could be made.
var found = []struct {
	reason, workload string
	plan
}{
	{
		"The second leader had seen that a Pod was deleted, and told so in the status. The third one did not have that Pod in its cache yet, and counted it twice.",
		"jobs",
		plan{
			seed: 1308, replicas: 3,
			steps:        append(handedOver, step{deed: kill, name: "b", value: 1, requests: 1}, step{deed: restart, name: "a", value: 10, then: 3 * time.Second}),
			disturbances: []disturbance{{replica: 0, of: watches, resource: pods.Resource, from: 1, to: forever, fault: Lagging, by: 18 * time.Second}},
		},
	},
	{
		"The third leader had no Job in its cache yet, and let go of Pods as of Jobs that are gone, so they were not counted.",
		"jobs",
		plan{
			seed: 1308, replicas: 3,
			steps:        append(handedOver, step{deed: restart, name: "a", value: 10, then: 3 * time.Second}),
			disturbances: []disturbance{{replica: 0, of: watches, resource: jobs.Resource, from: 1, to: forever, fault: Lagging, by: 8 * time.Second}},
		},
	},
	{
		"The program was frozen after it had taken the finalizer off a Pod that was too many, and before it deleted it. The Pod ended, and the oracle still held it to run.",
		"jobs",
		plan{
			seed: 403496, replicas: 1,
			steps: []step{
				{deed: create, name: "b", value: 5},
				{deed: succeed, name: "b", then: time.Second},
				{deed: create, name: "a", value: 9, requests: 1},
				{deed: scale, name: "b", value: 3, requests: 3},
				{deed: freeze, name: "a", value: 9, requests: 4},
			},
		},
	},
	{
		"The Deployment of the first wave was deleted, and the second one began at once.",
		"rollouts",
		plan{
			seed: 44, replicas: 1,
			steps: []step{
				{deed: create, name: "a", value: 3, requests: 5},
				{deed: create, name: "c", value: 1, requests: 5},
				{deed: remove, name: "a", value: 3, then: 10 * time.Millisecond},
			},
		},
	},
	{
		"The second leader had the Deployment of the first wave in its cache as it was before the first leader wrote. When it saw that nothing was to be written, another Deployment took the place.",
		"rollouts",
		plan{
			seed: 285, replicas: 3,
			steps: []step{
				{deed: trouble, name: "b", value: 7, requests: 6, troubles: []disturbance{{of: watches, resource: deployments.Resource, from: 1, to: 6, fault: Lagging, by: 16 * time.Second}}},
				{deed: create, name: "a", requests: 4},
				{deed: spoil, name: "a", then: 3 * time.Second},
				{deed: create, name: "a", value: 1},
				{deed: restart, name: "a", requests: 2},
			},
			disturbances: []disturbance{{replica: 0, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 3 * time.Second}},
		},
	},
	{
		"The write for the Deployment of the first wave came later than its client was told that it is lost, and another Deployment took the place.",
		"rollouts",
		plan{
			seed: 294, replicas: 1,
			steps: []step{
				{deed: create, name: "b", value: 2, requests: 3},
				{deed: create, name: "c", value: 3, then: 10 * time.Millisecond},
				{deed: trouble, name: "b", value: 3, then: 10 * time.Second, troubles: []disturbance{{of: patches, resource: deployments.Resource, from: 1, to: 6, fault: Belated, by: 3 * time.Second}}},
			},
			disturbances: []disturbance{{replica: 0, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 21 * time.Second}},
		},
	},
	{
		"The Deployment of the first wave was deleted before it was written for. Whether it was, the answer that was lost did not say, so the second wave began after a while.",
		"rollouts",
		plan{
			seed: 1132, replicas: 1,
			steps: []step{
				{deed: cure, name: "c", value: 3},
				{deed: create, name: "b", value: 2, requests: 3},
				{deed: remove, name: "b", value: 2, requests: 3},
				{deed: create, name: "c", value: 1, then: time.Minute},
				{deed: create, name: "a", then: 10 * time.Millisecond},
			},
			disturbances: []disturbance{{replica: 0, of: patches, resource: deployments.Resource, from: 1, to: 3, fault: Belated, by: 3 * time.Second}},
		},
	},
	{
		"The cache of the second leader did not show the Deployment yet that the first leader had written for. So it took it for gone, and another Deployment took the place.",
		"rollouts",
		plan{
			seed: 437458, replicas: 3,
			steps: []step{
				{deed: create, name: "c", value: 9, then: 10 * time.Millisecond},
				{deed: remove, name: "c", value: 9, then: 10 * time.Millisecond},
				{deed: create, name: "b", value: 7, requests: 6},
				{deed: replace, name: "b", value: 1, then: 10 * time.Second},
				{deed: create, name: "a", value: 4, requests: 2},
				{deed: restart, name: "c", requests: 2},
			},
			disturbances: []disturbance{
				{replica: 0, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 17 * time.Second},
				{replica: 2, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 9 * time.Second},
			},
		},
	},
	{
		"The cache of the second leader did not show yet what the first leader had made. It was to be made again and again, ever more slowly, until the cache did.",
		"namespace-defaults/what somebody changes or deletes comes back and what they add stays",
		plan{
			seed: 462299, replicas: 3,
			steps: []step{
				{deed: withdraw, name: "b", value: 2, then: 10 * time.Second},
				{deed: unfold, name: "b", value: 4, requests: 1},
				{deed: restart, name: "c", value: 1, requests: 4},
			},
			disturbances: []disturbance{
				{replica: 0, of: watches, resource: "configmaps", from: 1, to: forever, fault: Lagging, by: 18 * time.Second},
				{replica: 0, of: watches, resource: "limitranges", from: 1, to: forever, fault: Lagging, by: 21 * time.Second},
				{replica: 1, of: reads, from: 7, to: 7, fault: TimedOut},
				{replica: 1, of: reads, resource: "resourcequotas", from: 8, to: 8, fault: Unavailable},
				{replica: 1, of: watches, from: 1, to: 4, fault: LostRequest},
			},
		},
	},
	{
		"The set object had a new version that the program had not heard of, so it could not be stored for which Deployment the rule had written. The next Deployment had that tried again and again, as fast as the API server answers.",
		"limits",
		plan{
			seed: 969, replicas: 1, inCluster: true,
			steps: []step{
				{deed: create, name: "a", then: time.Minute},
				{deed: replace, value: 1},
				{deed: create, name: "b"},
				{deed: create, name: "c", then: 10 * time.Second},
			},
			disturbances: []disturbance{{replica: 0, of: watches, resource: v1alpha1.RuleSets().Resource, from: 1, to: forever, fault: Lagging, by: 20 * time.Second}},
		},
	},
	{
		"Users asked the rule to resume before it paused. The program heard of that just after, and the rule went on.",
		"limits",
		plan{
			seed: 551758, replicas: 1, inCluster: true,
			steps: []step{
				{deed: restart, name: "c", value: 1, requests: 6},
				{deed: create, name: "b", value: 7, then: 10 * time.Millisecond},
				{deed: create, name: "a", value: 5, requests: 5},
				{deed: replace, name: "b", value: 10, requests: 1},
				{deed: crash, name: "c", value: 3, requests: 1},
				{deed: sicken, name: "b", value: 3, then: time.Second},
				{deed: create, name: "c", value: 3, requests: 4},
				{deed: revoke, name: "a", value: 5, then: 3 * time.Second},
				{deed: compact, name: "b", value: 4, requests: 3},
				{deed: create, name: "c", value: 1, requests: 4},
				{deed: trouble, name: "c", value: 6, requests: 2},
			},
			disturbances: []disturbance{
				{replica: 1, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 21 * time.Second},
				{replica: 2, of: watches, from: 1, to: 1, fault: Lagging, by: 10 * time.Second},
				{replica: 2, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 14 * time.Second},
			},
		},
	},
	{
		"The set went to another account before it was stored for which Deployment its rule had written, and the rule wrote for one too many.",
		"limits",
		plan{
			seed: 600358, replicas: 1, inCluster: true,
			steps: []step{
				{deed: trouble, name: "a", value: 6, requests: 1, troubles: []disturbance{{of: patches, from: 1, to: 6, fault: Slow, by: 7 * time.Second}}},
				{deed: create, name: "c", value: 10, then: 10 * time.Second},
				{deed: create, name: "b", value: 9, requests: 6},
				{deed: create, name: "c", value: 7},
				{deed: move, name: "a", value: 1, then: 10 * time.Millisecond},
				{deed: create, name: "c", value: 4, requests: 3},
			},
		},
	},
	{
		"The inventory was stored late, and that slowed down the retries of the Job that had waited for it: after a few conflicts it was done ten minutes late.",
		"jobs",
		plan{
			seed: 609506, replicas: 1,
			steps: []step{{deed: create, name: "c", value: 2, then: 10 * time.Millisecond}},
			disturbances: []disturbance{
				{replica: 0, of: creates, from: 1, to: 1, fault: Slow, by: 19 * time.Second},
				{replica: 0, of: patches, from: 1, to: 6, fault: Conflict},
			},
		},
	},
	{
		"The API server did not answer for the Job, and that slowed down its retries when the API server was only busy: it was done ten minutes late.",
		"jobs",
		plan{
			seed: 615986, replicas: 1,
			steps: []step{
				{deed: trouble, name: "a", value: 3, requests: 4, troubles: []disturbance{
					{of: reads, resource: pods.Resource, from: 1, to: 6, fault: TooMany},
					{of: patches, from: 1, to: 1, fault: Forbidden},
				}},
				{deed: create, name: "c", value: 1, requests: 3},
				{deed: trouble, name: "b", value: 5, troubles: []disturbance{
					{of: reads, resource: jobs.Resource, from: 1, to: 6, fault: Slow, by: 25 * time.Second},
					{of: creates, from: 1, to: 6, fault: TooMany},
				}},
			},
		},
	},
	{
		"The set went to another account while the creation of a run had no answer. That was carried out late, when the next engine had made the run under another name.",
		"tenants",
		plan{
			seed: 646914, replicas: 1, inCluster: true,
			steps: []step{
				{deed: move, name: "c", value: 1, requests: 4},
				{deed: trouble, name: "a", value: 5, then: time.Minute, troubles: []disturbance{{of: creates, from: 1, to: 2, fault: Belated, by: 9 * time.Second}}},
				{deed: create, name: "c", value: 10, requests: 4},
				{deed: trouble, name: "b", value: 8},
				{deed: move, name: "b"},
			},
		},
	},
	{
		"The creation of a Pod had no answer, and was sent again. The Pod was deleted and made anew, under another name, and then the first request was carried out: one Pod too many.",
		"jobs",
		plan{
			seed: 648524, replicas: 1,
			steps: []step{
				{deed: create, name: "b", value: 5, then: 3 * time.Second},
				{deed: trouble, name: "b", value: 6, requests: 1, troubles: []disturbance{{of: creates, from: 1, to: 2, fault: Belated, by: 9 * time.Second}}},
				{deed: create, name: "a", value: 1},
				{deed: remove, name: "b", value: 3, then: time.Second},
				{deed: kill, name: "a", value: 6, then: 10 * time.Millisecond},
			},
		},
	},
	{
		"A Deployment could not be written for, and the rollout paused. Users asked it to resume, and then the Deployment was written for. It had not been healthy for long enough when the next wave began.",
		"rollouts",
		plan{
			seed: 656199, replicas: 1,
			steps: []step{
				{deed: restart, name: "a", value: 7, then: 10 * time.Millisecond},
				{deed: replace, name: "b", value: 4, then: time.Minute},
				{deed: create, name: "b", value: 10, then: 10 * time.Millisecond},
				{deed: revoke, name: "b", value: 5, requests: 5},
				{deed: create, name: "b", value: 7, then: time.Minute},
				{deed: trouble, name: "b", value: 4, requests: 4, troubles: []disturbance{
					{of: reads, resource: deployments.Resource, from: 1, to: 4, fault: Late, by: 20 * time.Second},
					{of: patches, resource: deployments.Resource, from: 1, to: 4, fault: Conflict},
				}},
			},
			disturbances: []disturbance{{replica: 1, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 18 * time.Second}},
		},
	},
	{
		"A Deployment could not be written for, and the rollout paused. Users asked it to resume, and the next wave began before the rule had written for any Deployment.",
		"rollouts",
		plan{
			seed: 669705, replicas: 1,
			steps: []step{
				{deed: restart, name: "a", value: 2, requests: 3},
				{deed: remove, name: "a", value: 5},
				{deed: create, name: "a", value: 5},
				{deed: create, name: "c", value: 10},
				{deed: revoke, name: "a", value: 8, then: time.Second},
			},
			disturbances: []disturbance{
				{replica: 1, of: reads, resource: deployments.Resource, from: 3, to: 3, fault: CrashBefore},
				{replica: 1, of: patches, resource: deployments.Resource, from: 2, to: 3, fault: Unavailable},
				{replica: 1, of: watches, resource: deployments.Resource, from: 1, to: forever, fault: Lagging, by: 4 * time.Second},
			},
		},
	},
}

// TestFound lives the worlds that went wrong. Each is lived several times, since the Go runtime draws lots, too.
func TestFound(t *testing.T) {
	server, named := newServer(t), byName(t)
	for _, f := range found {
		for range 5 {
			if wrong, transcript, _ := play(t, server, named[f.workload], f.plan); wrong != "" {
				t.Fatalf("%s\n%s\n%s\nthe requests:\n%s\nagain: %s", f.reason, wrong, f.plan, transcript, "go test ./test/worlds -run TestFound")
			}
		}
	}
}
