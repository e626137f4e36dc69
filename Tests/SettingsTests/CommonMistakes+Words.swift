extension Mistake {
    /// What jobs do and when, in words that mean nothing here, or something else.
    static let words = [
        Mistake(
            "no space after a colon in braces",
            #"""
            jobs:
              a: { schedule:manual, shell: date }

            """#,
            #"""
            belfry.yaml:2:8: jobs.a: a space is missing after "schedule:"; write schedule: manual
                a: { schedule:manual, shell: date }
                     ^^^^^^^^^^^^^^^
            """#),
        Mistake(
            "a phrase for an expression",
            #"""
            jobs:
              a:
                schedule: "every day at 5"
                shell: date

            """#,
            #"""
            belfry.yaml:3:16: jobs.a.schedule: "every day at 5" is not a cron expression; write schedule: { words: every day at 5 }
                  schedule: "every day at 5"
                             ^^^^^^^^^^^^^^
            """#),
        Mistake(
            "an interval for an expression",
            #"""
            jobs:
              a:
                schedule: every 15m
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: jobs.a.schedule: "every 15m" is not a cron expression; write schedule: { every: 15m }
                  schedule: every 15m
                            ^^^^^^^^^
            """#),
        Mistake(
            "a duration for an expression",
            #"""
            jobs:
              a:
                schedule: 15m
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: jobs.a.schedule: "15m" is not a cron expression; write schedule: { every: 15m }
                  schedule: 15m
                            ^^^
            """#),
        Mistake(
            "a time of day for an expression",
            #"""
            jobs:
              a:
                schedule: 22:00
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: jobs.a.schedule: "22:00" is not a cron expression; write schedule: "0 22 * * *", for each day at 22:00
                  schedule: 22:00
                            ^^^^^
            """#),
        Mistake(
            "a time of day for a moment",
            #"""
            jobs:
              a:
                schedule: { at: 22:00 }
                shell: date

            """#,
            #"""
            belfry.yaml:3:21: jobs.a.schedule.at: "22:00" is not a time: a time begins with a year of 4 digits; add the day, as 2030-01-31T22:00; each day is cron: "0 22 * * *"
                  schedule: { at: 22:00 }
                                  ^^
            """#),
        Mistake(
            "a command as one text",
            #"""
            jobs:
              a:
                schedule: manual
                command: "ls -la /"

            """#,
            #"""
            belfry.yaml:4:15: jobs.a.command: expected a list, found text; write command: [ls, -la, /], or shell: ls -la /
                  command: "ls -la /"
                            ^^^^^^^^
            """#),
        Mistake(
            "variables as a list",
            #"""
            jobs:
              a:
                schedule: manual
                shell: date
                env: [A=B, C=D]

            """#,
            #"""
            belfry.yaml:5:10: jobs.a.env: expected a map, found a list; write env: { A: B, C: D }
                  env: [A=B, C=D]
                       ^
            """#),
        Mistake(
            "variables as a text",
            #"""
            jobs:
              a:
                schedule: manual
                shell: date
                env: A=B

            """#,
            #"""
            belfry.yaml:5:10: jobs.a.env: expected a map, found text; write env: { A: B }
                  env: A=B
                       ^^^
            """#),
        Mistake(
            "success for completed",
            #"""
            routes:
              - { when: [failed, success], to: [desk] }

            """#,
            #"""
            belfry.yaml:2:22: routes[0].when[1]: "success" is not known here; did you mean "completed"?
                - { when: [failed, success], to: [desk] }
                                   ^^^^^^^
            """#),
        Mistake(
            "enabled: false",
            #"""
            jobs:
              a:
                enabled: false
                schedule: manual
                shell: date

            """#,
            #"""
            belfry.yaml:3:5: jobs.a: unknown key "enabled"; remove it; to pause the job: belfry job pause a
                  enabled: false
                  ^^^^^^^
            """#),
        Mistake(
            "yes for true",
            #"""
            jobs:
              a:
                schedule: manual
                shell: date
                retry: { attempts: 2, onLost: yes }

            """#,
            #"""
            belfry.yaml:5:35: jobs.a.retry.onLost: "yes" is not known here; did you mean "true"?
                  retry: { attempts: 2, onLost: yes }
                                                ^^^
            """#),
        Mistake(
            "jobs as a list",
            #"""
            jobs:
              - name: a
                schedule: manual
                shell: date

            """#,
            #"""
            belfry.yaml:2:3: jobs: expected a map, found a list; write each name as a key, without "-", such as a:
                - name: a
                ^
            """#),
        Mistake(
            "a job whose lines are not below it",
            #"""
            jobs:
              a:
              schedule: manual
              shell: date

            """#,
            #"""
            belfry.yaml:3:3: jobs: "schedule" stands beside the job "a", not below it; indent it deeper than a:
                schedule: manual
                ^^^^^^^^
            """#),
        Mistake(
            "cron: beside the command",
            #"""
            jobs:
              a:
                cron: "0 5 * * *"
                shell: date

            """#,
            #"""
            belfry.yaml:3:5: jobs.a: unknown key "cron"; write schedule: "0 5 * * *"
                  cron: "0 5 * * *"
                  ^^^^
            """#),
        Mistake(
            "cmd: for command:",
            #"""
            jobs:
              a:
                schedule: manual
                cmd: [ls]

            """#,
            #"""
            belfry.yaml:4:5: jobs.a: unknown key "cmd"; did you mean "command"?
                  cmd: [ls]
                  ^^^
            """#),
        Mistake(
            "run: for shell:",
            #"""
            jobs:
              a:
                schedule: manual
                run: ls

            """#,
            #"""
            belfry.yaml:4:5: jobs.a: unknown key "run"; did you mean "shell"?
                  run: ls
                  ^^^
            """#),
        Mistake(
            "an interval without a unit",
            #"""
            jobs:
              a:
                schedule: { every: 5 }
                shell: date

            """#,
            #"""
            belfry.yaml:3:24: jobs.a.schedule.every: "5" is not a duration; add a unit: 5s, 5m or 5h
                  schedule: { every: 5 }
                                     ^
            """#),
        Mistake(
            "a unit that is written out",
            #"""
            jobs:
              a:
                schedule: { every: 5 minutes }
                shell: date

            """#,
            #"""
            belfry.yaml:3:24: jobs.a.schedule.every: "5 minutes" is not a duration; write 5m
                  schedule: { every: 5 minutes }
                                     ^^^^^^^^^
            """#),
    ]
}
