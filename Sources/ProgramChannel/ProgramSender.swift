package import Delivery
import Performing
package import Timeline
import Tracking

/// Sends what forms by a program render: runs the program for each notice.
///
/// One attempt a call and no memory between calls: retries, circuits and order are the pump's.
package struct ProgramSender: EdgeChannel {
    /// The name it has in the config file.
    package let name: String
    private let service: any ProgramForm
    private let desk: ProgramDesk

    /// A channel of this form, whose programs `desk` has run.
    package init(name: String, form: any ProgramForm, desk: ProgramDesk) {
        self.name = name
        service = form
        self.desk = desk
    }

    /// The form it sends for.
    package var form: any ChannelForm { service }

    /// The command itself: there is no secret in it.
    package var identity: String { service.command.joined(separator: "\u{0}") }

    /// Runs the program for `parcel` once, and waits for its end.
    package func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt {
        try await attempt(parcel, at: now).result.get()
    }

    /// The same, with the end of what the program printed.
    package func attempt(_ parcel: Parcel, at now: Moment) async -> DeliveryReport {
        let answer = await desk.run(service.call(parcel), for: parcel)
        let said = DeliveryReport.kept(answer.output.text(most: 20) ?? "")
        if let failure = service.judge(answer) { return DeliveryReport(.failure(failure), answer: said) }
        return DeliveryReport(.success(Receipt(at: now, kind: .accepted, answer: said)))
    }
}

extension ProgramAnswer {
    /// What an exit record says of a program.
    init(_ record: ExitRecord) {
        let end: ProgramEnd =
            switch (record.cause, record.exitCode, record.signal) {
            case (.timeout, _, _): .timedOut
            case (.lost, _, _): .lost
            case (.exited, let code?, _): .exited(code)
            case (.exited, nil, let signal?): .signaled(signal)
            case (.exited, nil, nil): .lost
            // Nobody but a person at the warden's socket asks for that.
            case (.canceled, _, let signal): .signaled(signal ?? 15)
            }
        self.init(end, printed: record.outputTail)
    }
}
