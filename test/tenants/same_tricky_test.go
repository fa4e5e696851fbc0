package tenants

// tricky has values that a way through YAML, JSON, kubectl and an API server may change.
const tricky = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: tricky}
spec:
  serviceAccountName: bot
  params:
    big: 9007199254740993
    nested: [[1, [2, "3"]], [], {a: [{b: {}}]}]
    words: ["no", "on", "1e3", "012", "~", "null", "0x1F", "1_000", "2026-01-01", ""]
    tidy: |
      first
        second # not a comment

      last
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps, labelSelector: tricky}
  rules:
  - name: zulu
    watch: tidbclusters
    let:
      b: a + 1
      a: params.big
    actions:
    - patch:
        merge:
          metadata: {annotations: {gone: "${nil}", "no": "no", "1e3": "012"}, labels: {yes-label: "on"}}
          spec:
            tidb:
              config:
                big: "${params.big}"
                sum: "${b}"
                literal: 9223372036854775807
                small: -9007199254740993
                float: 1.5
                nested: [[1, [2, "3"]], [], {a: [{b: c}]}]
                given: "${params.nested}"
                words: "${params.words}"
                own: ["no", "1e3", "012", "~", ""]
                text: |
                  one
                    two: three

                  $${not} a template
                folded: >-
                  a b
                  c
                "on": true
                "012": {"1e3": false}
                mixed: "${params.big}-${join(params.words, '|')}"
                dropped: "${omit()}"
  - name: alpha
    watch: tidbclusters
    actions:
    - apply:
        resource: configmaps
        manifest:
          metadata: {name: "${object.metadata.name}-tricky", labels: {tricky: "012"}}
          data:
            tidy: "${params.tidy}"
            words: "${toJSON(params.words)}"
            all: "${toJSON(params)}"
            multi: "a\tb\r\nc\u00e9 \"q\""
        prune: true
    - event: {type: Warning, reason: Tricky, message: "no: ${params.big}"}
`

const trickyObject = `apiVersion: pingcap.com/v1alpha1
kind: TidbCluster
metadata: {name: tricky, namespace: shop, annotations: {gone: "1"}}
spec: {version: v8.5.5, tidb: {replicas: 1}}
`
