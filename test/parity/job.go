package main

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func job() example {
	return example{
		name: "job", controllers: "job-controller,ttl-after-finished-controller", kinds: []string{"jobs", "pods"},
		quiet: 3500 * time.Millisecond, // The job controller waits for one second after each change of a Pod.
		kind:  "jobs", child: "pods",
		parent: func() object { return newJob(1, nil) },
		columns: []column{
			{"number of Pods", func(v view) any { return len(v["pods"]) }},
			{"which Pods", each("pods", "metadata.deletionTimestamp", "spec.nodeName", "status")},
			{"metadata", each("pods", "metadata.generateName", "metadata.labels", "metadata.annotations")},
			{"owners", each("pods", "metadata.ownerReferences")},
			{"finalizers", each("pods", "metadata.finalizers", "metadata.deletionTimestamp", "status.phase")},
			{"spec", each("pods", "spec")},
			{"status: counts", each("jobs", "status.active", "status.ready", "status.succeeded", "status.failed", "status.terminating")},
			{"uncounted", each("jobs", "status.uncountedTerminatedPods")},
			{"times", each("jobs", "status.startTime", "status.completionTime")},
			{"conditions", each("jobs", "status.conditions")},
			{"Job", each("jobs", "metadata", "spec")},
		},
		themes: jobThemes(),
		moves:  []func(*script){runJob, succeed, succeed, failOne, parallel, suspend, unreadyOne, finishing, completeJob, completeJob},
	}
}

func newJob(parallelism int, change func(spec object)) object {
	spec := object{"parallelism": parallelism, "completions": parallelism, "template": template(object{"tier": "one"}, "Never")}
	if change != nil {
		change(spec)
	}
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": parentName}, "spec": spec}
}

func (s *script) createJob(parallelism int, say string, change func(spec object)) {
	s.size = parallelism
	s.step(func(p *place) { p.create("jobs", newJob(parallelism, change)) }, "create %d%s", parallelism, say)
}

func (s *script) patchJob(say string, spec object) {
	s.step(func(p *place) {
		if p.get("jobs", parentName) != nil {
			p.patch("jobs", parentName, object{"spec": spec})
		}
	}, "%s", say)
}

// some has the first active Pods get into a state, those that are ready at last.
func (s *script) some(n int, say string, is state) {
	s.step(func(p *place) {
		for _, pod := range take(p.active(parentName), n) {
			p.report(pod, "node-1", is)
		}
	}, "%d %s", n, say)
}

func runJob(s *script) {
	s.step(func(p *place) {
		for _, pod := range p.active(parentName) {
			p.report(pod, "node-1", state{ready: true, since: time.Hour})
		}
	}, "all run")
}

func succeed(s *script) {
	s.some(1+s.IntN(2), "succeed", state{phase: "Succeeded", since: s.later()})
}

// failOne has a Pod say that it failed long ago, so that the back-off has passed.
func failOne(s *script) {
	if s.mixed { // Another has failed just now.
		succeed(s)
		return
	}
	s.some(1, "fails", state{phase: "Failed", since: s.later()})
}

func parallel(s *script) {
	to := 1 + s.IntN(4)
	runJob(s)
	s.patchJob("parallelism "+string(rune('0'+to)), object{"parallelism": to})
}

func suspend(s *script) {
	s.patchJob("suspend", object{"suspend": true})
	finishing(s)
	s.patchJob("resume", object{"suspend": false})
}

func unreadyOne(s *script) {
	runJob(s)
	s.some(1, "not ready", state{})
}

func completeJob(s *script) {
	for range 2 {
		s.some(9, "succeed", state{phase: "Succeeded", since: s.later()})
	}
}

// byHand has a selector that is not the one that the API server makes.
func byHand(spec object) {
	labels := object{"app": parentName}
	spec["manualSelector"], spec["selector"], spec["template"] = true, object{"matchLabels": labels}, template(labels, "Never")
}

// pass is time in which nobody does anything.
func (s *script) pass(say string, d time.Duration) {
	s.mixed = true
	s.step(nothing, "%s later", say)
	s.wait(d)
}

func jobThemes() []func(*script) {
	return []func(*script){
		func(s *script) {
			s.createJob(2, " for 4", with("completions", 4))
			runJob(s)
			succeed(s)
			completeJob(s)
		},
		func(s *script) { s.createJob(2, "", nil); runJob(s); failOne(s); failOne(s); completeJob(s) },
		func(s *script) { s.createJob(2, ", backoffLimit 1", with("backoffLimit", 1)); failOne(s); failOne(s) },
		func(s *script) { s.createJob(3, ", backoffLimit 0", with("backoffLimit", 0)); succeed(s); failOne(s) },
		func(s *script) {
			s.createJob(3, ", backoffLimit 0", with("backoffLimit", 0))
			runJob(s)
			failOne(s)
			finishing(s)
		},
		func(s *script) {
			s.createJob(2, ", suspended", with("suspend", true))
			s.patchJob("resume", object{"suspend": false})
			runJob(s)
		},
		func(s *script) { s.createJob(3, "", nil); runJob(s); succeed(s); suspend(s) },
		func(s *script) {
			s.createJob(2, " for 5", with("completions", 5))
			parallel(s)
			s.patchJob("parallelism 0", object{"parallelism": 0})
			finishing(s)
			parallel(s)
		},
		func(s *script) { s.createJob(4, " for 2", with("completions", 2)); succeed(s); failOne(s) },
		func(s *script) {
			s.createJob(3, ", no completions", func(spec object) { delete(spec, "completions") })
			runJob(s)
			s.some(1, "succeed", state{phase: "Succeeded", since: s.later()})
			failOne(s)
			completeJob(s)
		},
		func(s *script) {
			s.createJob(2, "", nil)
			runJob(s)
			deletePods(s)
			s.pass("20s", 24*time.Second)
			finishing(s)
		},
		func(s *script) {
			s.createJob(2, "", nil)
			s.some(1, "fails just now", state{phase: "Failed"})
			s.pass("10s", 12*time.Second)
		},
		func(s *script) {
			s.createJob(2, ", TTL 8s", with("ttlSecondsAfterFinished", 8))
			s.some(2, "succeed", state{phase: "Succeeded", since: s.later()})
			s.pass("8s", 10*time.Second)
			s.over = true
		},
		func(s *script) {
			s.createJob(1, ", backoffLimit 0", with("backoffLimit", 0))
			failOne(s)
			s.patchJob("TTL 0", object{"ttlSecondsAfterFinished": 0})
			s.over = true
		},
		func(s *script) {
			s.createJob(3, "", nil)
			runJob(s)
			succeed(s)
			s.deleteParent("jobs", metav1.DeletePropagationBackground)
		},
		func(s *script) {
			s.createJob(2, "", nil)
			runJob(s)
			s.deleteParent("jobs", metav1.DeletePropagationForeground)
		},
		func(s *script) {
			s.createJob(2, "", nil)
			runJob(s)
			s.deleteParent("jobs", metav1.DeletePropagationOrphan)
		},
		func(s *script) {
			s.step(func(p *place) { p.create("pods", lone("orphan", object{"app": parentName}, "Never")) }, "an orphan")
			s.createJob(2, ", a selector by hand", byHand)
			s.over = true
		},
		func(s *script) { s.createJob(2, ", a selector by hand", byHand); releasePod(s); s.over = true },
		func(s *script) {
			s.createJob(2, ", activeDeadlineSeconds 15", with("activeDeadlineSeconds", 15))
			runJob(s)
			s.pass("15s", 14*time.Second)
			finishing(s)
			s.over = true
		},
		func(s *script) {
			s.createJob(2, ", podReplacementPolicy Failed", with("podReplacementPolicy", "Failed"))
			runJob(s)
			deletePods(s)
			finishing(s)
			s.pass("20s", 24*time.Second)
			s.over = true
		},
		func(s *script) {
			s.createJob(1, ", OnFailure, backoffLimit 2", func(spec object) {
				spec["backoffLimit"], spec["template"] = 2, template(object{"tier": "one"}, "OnFailure")
			})
			s.some(1, "restarted once", state{ready: true, since: time.Hour, restarts: 1})
			s.some(1, "restarted 3 times", state{ready: true, since: time.Hour, restarts: 3})
			finishing(s)
			s.over = true
		},
		func(s *script) { s.createJob(0, " for 2", with("completions", 2)); parallel(s) },
		func(s *script) { s.createJob(3, "", nil); unreadyOne(s); s.some(1, "ready again", state{ready: true}) },
		func(s *script) {
			s.createJob(2, ", managedBy another", with("managedBy", "example.com/other"))
			s.patchJob("parallelism 1", object{"parallelism": 1})
			s.over = true
		},
		func(s *script) {
			pod := template(nil, "Never")
			pod["metadata"] = object{"labels": object{"a": "b"}, "annotations": object{"note": "kept"}, "finalizers": list{"example.com/kept"}}
			s.createJob(2, " with labels, annotations", with("template", pod))
			s.step(func(p *place) {
				p.patch("jobs", parentName, object{"metadata": object{"labels": object{"more": "yes"}}})
			}, "label it")
		},
	}
}
