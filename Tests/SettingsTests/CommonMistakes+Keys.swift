extension Mistake {
    /// Keys and shapes that mean nothing here, or something else.
    static let keys = [
        Mistake(
            "a channel without brackets",
            #"""
            routes:
              - { when: [failed], to: desk }

            """#,
            #"""
            belfry.yaml:2:27: routes[0].to: expected a list, found text; write to: [desk]
                - { when: [failed], to: desk }
                                        ^^^^
            """#),
        Mistake(
            "a route without a dash",
            #"""
            routes:
              when: [failed]
              to: [desk]

            """#,
            #"""
            belfry.yaml:2:3: routes: expected a list, found a map; begin each entry with "- "
                when: [failed]
                ^
            """#),
        Mistake(
            "a kind for the name of a channel",
            #"""
            routes:
              - { when: [failed], to: [desktop] }

            """#,
            #"""
            belfry.yaml:2:28: routes[0].to[0]: there is no channel "desktop"; known here: desk
                - { when: [failed], to: [desktop] }
                                         ^^^^^^^
            """#),
        Mistake(
            "a secret in the file",
            #"""
            channels:
              s: { kind: webhook, url: https://e.org/, secret: abc }

            """#,
            #"""
            belfry.yaml:2:52: channels.s.secret: do not write a secret in this file; write secret: { file: /path }, { credential: NAME }, { env: NAME } or { service: NAME }
                s: { kind: webhook, url: https://e.org*, secret: *** }
                                                                 ^^^
            """#),
        Mistake(
            "a kind of channel that does not exist",
            #"""
            channels:
              s: { kind: email, to: me@example.org }

            """#,
            #"""
            belfry.yaml:2:14: channels.s.kind: "email" is not known here; write kind: mail
                s: { kind: email, to: me@example.org }
                           ^^^^^
            """#),
        Mistake(
            "~ for the home",
            #"""
            jobs:
              a:
                schedule: manual
                command: [ls]
                cwd: ~/data

            """#,
            #"""
            belfry.yaml:5:10: jobs.a.cwd: must be an absolute path; write it out, as /home/NAME/data
                  cwd: ~/data
                       ^^^^^^
            """#),
        Mistake(
            "a job that is only a text",
            #"""
            jobs:
              a: date

            """#,
            #"""
            belfry.yaml:2:6: jobs.a: a job is a map, found text; write a: { schedule: "0 3 * * *", shell: date }
                a: date
                   ^^^^
            """#),
        Mistake(
            "a name with capitals",
            #"""
            jobs:
              My Job: { schedule: manual, shell: date }

            """#,
            #"""
            belfry.yaml:2:3: jobs: "My Job" is not a valid job name: a name begins with a-z or 0-9; write my-job:
                My Job: { schedule: manual, shell: date }
                ^^^^^^
            """#),
        Mistake(
            "a template",
            #"""
            jobs:
              a:
                schedule: manual
                shell: {{ x }}

            """#,
            #"""
            belfry.yaml:4:12: jobs.a.shell: expected text, found a map; quote it, as "{{ x }}"
                  shell: {{ x }}
                         ^
            """#),
        Mistake(
            "typographic quotes",
            #"""
            jobs:
              a:
                schedule: “0 5 * * *”
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: jobs.a.schedule: "“0 5 * * *”" is not a cron expression; write schedule: "0 5 * * *"
                  schedule: “0 5 * * *”
                            ^^^^^^^^^^^
            """#),
        Mistake(
            "blanks that are no spaces",
            "jobs:\n\u{A0}\u{A0}a:\n    schedule: manual\n",
            "belfry.yaml:2:1: a blank that is no space stands before this key; indent with spaces\n  \u{A0}\u{A0}a:\n  ^^^"
        ),
        Mistake(
            "script: for shell:",
            #"""
            jobs:
              a:
                schedule: manual
                script: ls

            """#,
            #"""
            belfry.yaml:4:5: jobs.a: unknown key "script"; did you mean "shell"?
                  script: ls
                  ^^^^^^
            """#),
        Mistake(
            "keys in the style of other programs",
            #"""
            jobs:
              a: { schedule: manual, shell: date, catch_up: {mode: none}, working_dir: /x, environment: {A: b} }

            """#,
            #"""
            belfry.yaml:2:39: jobs.a: unknown key "catch_up"; did you mean "catchUp"?
                a: { schedule: manual, shell: date, catch_up: {mode: none}, working_dir: /x, environment: {A: b} }
                                                    ^^^^^^^^
            belfry.yaml:2:63: jobs.a: unknown key "working_dir"; did you mean "cwd"?
                a: { schedule: manual, shell: date, catch_up: {mode: none}, working_dir: /x, environment: {A: b} }
                                                                            ^^^^^^^^^^^
            belfry.yaml:2:80: jobs.a: unknown key "environment"; did you mean "env"?
                a: { schedule: manual, shell: date, catch_up: {mode: none}, working_dir: /x, environment: {A: b} }
                                                                                             ^^^^^^^^^^^
            """#),
        Mistake(
            "a section in the singular",
            #"""
            job:
              a: { schedule: manual, shell: date }

            """#,
            #"""
            belfry.yaml:1:1: unknown key "job"; did you mean "jobs"?
              job:
              ^^^
            """#),
        Mistake(
            "a timeout without a unit",
            #"""
            jobs:
              a:
                schedule: manual
                shell: date
                timeout: 30

            """#,
            #"""
            belfry.yaml:5:14: jobs.a.timeout: "30" is not a duration; add a unit: 30s, 30m or 30h
                  timeout: 30
                           ^^
            """#),
        Mistake(
            "a command with a pipe",
            #"""
            jobs:
              a:
                schedule: manual
                command: ls | wc -l

            """#,
            #"""
            belfry.yaml:4:14: jobs.a.command: expected a list, found text; write shell: ls | wc -l
                  command: ls | wc -l
                           ^^^^^^^^^^
            """#),
        Mistake(
            "false for no notifications",
            #"""
            jobs:
              a:
                schedule: manual
                shell: date
                notify: false

            """#,
            #"""
            belfry.yaml:5:13: jobs.a.notify: a map is expected; write notify: { when: none }
                  notify: false
                          ^^^^^
            """#),
        Mistake(
            "outcomes in the place of notify",
            #"""
            jobs:
              a:
                schedule: manual
                shell: date
                notify: [success, error]

            """#,
            #"""
            belfry.yaml:5:13: jobs.a.notify: a map is expected; write notify: { when: [completed, failed] }
                  notify: [success, error]
                          ^
            """#),
        Mistake(
            "a word of another program in a route",
            #"""
            routes:
              - { when: error, to: [desk] }

            """#,
            #"""
            belfry.yaml:2:13: routes[0].when: expected a list, found text; write when: [failed]
                - { when: error, to: [desk] }
                          ^^^^^
            """#),
        Mistake(
            "type: for kind:",
            #"""
            channels:
              s: { type: webhook, url: https://e.org/, secret: { file: /etc/belfry/hook.secret } }
            routes: [{ when: [failed], to: [s] }]

            """#,
            #"""
            belfry.yaml:2:8: channels.s: unknown key "type"; did you mean "kind"?
                s: { type: webhook, url: https://e.org*, secret: { file: /etc/belfry/hook.secret } }
                     ^^^^
            """#),
    ]
}
