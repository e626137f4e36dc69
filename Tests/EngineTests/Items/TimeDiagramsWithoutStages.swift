import Delivery
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a drawing` {
    /// That these drawings show what their stage does, and not what happens anyway.
    @Test(arguments: [
        (
            StageName.route,
            """
            rule  failed -> desk
            rule  failed -> hook if host=db2
            rule  failed -> phone if host=db1
            rule  label backup host db1
            story f
            desk  !
            hook  -
            phone !
            """
        ),
        (
            StageName.shown,
            """
            rule  failed,message,question -> desk hook
            rule  off
            story fmqa
            desk  --!x
            hook  --hw
            """
        ),
        (
            StageName.shown,
            """
            rule  failed,recovered -> desk hook
            rule  alertAfter 2
            story ffcf
            desk  -!!-
            hook  -!!-
            """
        ),
        (
            StageName.wish,
            """
            rule  failed,recovered -> desk hook
            rule  wish backup never
            story fc
            desk  --
            hook  --
            """
        ),
        (
            StageName.routine,
            """
            story cfc
            desk  -!!
            hook  -!!
            """
        ),
        (
            StageName.recovery,
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 10:20
            story f--c
            desk  --!!
            hook  ----
            """
        ),
        (
            StageName.change,
            """
            rule  failed,recovered -> desk hook phone
            story fffgc
            desk  !..!!
            hook  !!!!!
            phone !--!!
            """
        ),
        (
            StageName.silence,
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 10:30
            story f---
            desk  ---!
            hook  ----
            """
        ),
        (
            StageName.quietHours,
            """
            rule  message -> desk hook phone
            rule  quiet 10:00-10:30
            story m---
            desk  ---!
            hook  h--!
            phone h--!
            """
        ),
        (
            StageName.inhibition,
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed host
            rule  label ping host db1
            rule  label backup host db1
            story pf
            desk  !-
            hook  !-
            """
        ),
        (
            StageName.budget,
            """
            rule  message -> desk hook
            rule  budget 1
            story mn-----
            desk  !-----!
            hook  !h----!
            """
        ),
        (
            StageName.grouping,
            """
            place 2s
            rule  message -> hook
            rule  wait 0s
            rule  down hook
            story mmn
            hook  !~!
            """
        ),
        (
            StageName.escalation,
            """
            rule  failed -> desk
            rule  failed -> phone after 30m
            story f---
            desk  !---
            phone h--!
            """
        ),
    ])
    func `is another one without the stage that it is about`(stage: StageName, drawing: String) async throws {
        let diagram = try TimeDiagram(drawing)
        let drawn = try await diagram.drawn(by: Dispatcher(without: [stage]))
        #expect(drawn != diagram.rows)
    }
}
