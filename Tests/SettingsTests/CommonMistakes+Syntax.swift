extension Mistake {
    /// Texts that are not YAML, or hold a key twice.
    static let notYAML = [
        Mistake(
            "a cron expression without quotes",
            #"""
            jobs:
              a:
                schedule: */5 * * * *
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: text that begins with "*" must be quoted; write schedule: "*/5 * * * *"
                  schedule: */5 * * * *
                            ^^^^^^^^^^^
            """#),
        Mistake(
            "a cron expression without quotes in braces",
            #"""
            jobs:
              a:
                schedule: { cron: */5 * * * * }
                shell: date

            """#,
            #"""
            belfry.yaml:3:23: text that begins with "*" must be quoted; write cron: "*/5 * * * *"
                  schedule: { cron: */5 * * * * }
                                    ^^^^^^^^^^^
            """#),
        Mistake(
            "a tab",
            "jobs:\n\ta:\n\t\tschedule: manual\n\t\tshell: date\n",
            "belfry.yaml:2:1: a tab indents this line; indent with spaces\n  \ta:\n  ^"),
        Mistake(
            "no space after a colon",
            #"""
            jobs:
              a:
                schedule:manual
                shell: date

            """#,
            #"""
            belfry.yaml:3:5: a space is missing after "schedule:"; write schedule: manual
                  schedule:manual
                  ^^^^^^^^^
            """#),
        Mistake(
            "@daily without quotes",
            #"""
            jobs:
              a:
                schedule: @daily
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: text that begins with "@" must be quoted; write schedule: "@daily"
                  schedule: @daily
                            ^^^^^^
            """#),
        Mistake(
            "a section twice",
            #"""
            jobs:
              a: { schedule: manual, shell: date }
            jobs:
              b: { schedule: manual, shell: date }

            """#,
            #"""
            belfry.yaml:3:1: "jobs" is given twice; the first is at belfry.yaml:1; write the entries of both below one jobs:
              jobs:
              ^^^^
            """#),
        Mistake(
            "a line between two depths",
            #"""
            jobs:
              a:
                schedule: manual
               shell: date

            """#,
            #"""
            belfry.yaml:4:4: the indentation of this line matches no line above; indent it with 4 spaces, as line 3
                 shell: date
                 ^^^^^
            """#),
        Mistake(
            "a line that is too deep",
            #"""
            jobs:
              a:
                schedule: manual
                  shell: date

            """#,
            #"""
            belfry.yaml:4:7: this line is indented deeper than line 3, which has a value; indent it with 4 spaces, as line 3
                    shell: date
                    ^^^^^
            """#),
        Mistake(
            "a quote without its end",
            #"""
            jobs:
              a:
                schedule: "0 5 * * *
                shell: date

            """#,
            #"""
            belfry.yaml:3:15: the quote that begins here has no end; add " where the text ends
                  schedule: "0 5 * * *
                            ^^^^^^^^^^
            """#),
        Mistake(
            "a colon in a text",
            #"""
            jobs:
              a:
                schedule: manual
                shell: echo note: done

            """#,
            #"""
            belfry.yaml:4:12: text that contains ": " must be quoted; write shell: "echo note: done"
                  shell: echo note: done
                         ^^^^^^^^^^^^^^^
            """#),
        Mistake(
            "no comma in braces",
            #"""
            jobs:
              a: { schedule: manual shell: date }

            """#,
            #"""
            belfry.yaml:2:30: a "," or "}" is missing before this; close the { of line 2, or put a comma between its entries
                a: { schedule: manual shell: date }
                                           ^
            """#),
        Mistake(
            "no space after a dash",
            #"""
            routes:
              -{ when: [failed], to: [desk] }

            """#,
            #"""
            belfry.yaml:2:3: a space is missing after "-"; write - { when: [failed], to: [desk] }
                -{ when: [failed], to: [desk] }
                ^
            """#),
        Mistake(
            "a star for all events",
            #"""
            routes:
              - { when: [*], to: [desk] }

            """#,
            #"""
            belfry.yaml:2:14: no "*" stands for all events; name each, such as when: [failed, completed]
                - { when: [*], to: [desk] }
                           ^
            """#),
        Mistake(
            "no space after a dash in a list of words",
            #"""
            jobs:
              a:
                schedule: manual
                command:
                  - echo
                  -hello

            """#,
            #"""
            belfry.yaml:6:7: a space is missing after "-"; write - hello
                    -hello
                    ^
            """#),
    ]
}
