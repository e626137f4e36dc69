// Each line that a test run prints is written at once.
//
// Standard output into a file is written in blocks otherwise, and a run that is ended because it hangs loses the
// last of them: the lines that name the tests that hang.

// Has been done by the time that any test runs; idempotent.
void print_line_by_line(void);
