import Cron
import Timeline

/// What many schedules weigh in memory.
enum ScheduleBytes {
    /// `72 in line, 72.0 each of 1,000,000 with texts of their own`.
    static var measured: String {
        let count = 1_000_000
        let before = HeapMeter.bytes
        let schedules = make(count)
        let each = Double(HeapMeter.bytes - before) / Double(count)
        return withExtendedLifetime(schedules) {
            "\(MemoryLayout<Schedule>.stride) in line, \((each * 10).rounded() / 10) each of \(count)"
        }
    }

    /// `17 3 * * 1` and its like: times spread over the week, every text its own.
    private static func make(_ count: Int) -> [Schedule] {
        var schedules: [Schedule] = []
        schedules.reserveCapacity(count)
        for number in 0..<count {
            let text = "\(number % 60) \(number / 60 % 24) * * \(number / 1440 % 7)"
            guard let expression = try? CronExpression(text) else { continue }
            schedules.append(.cron(expression, zone: "Europe/Berlin"))
        }
        return schedules
    }
}
