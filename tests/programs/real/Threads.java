// Threads, pools, garbage collection, errors that the JVM finds by signals, and child processes; prints
// what came of it and ends with status 7.
//
//   java Threads ROUNDS
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

public class Threads {
  private static int depth;

  private static long garbage(int seed) {
    List<byte[]> kept = new ArrayList<>();
    long sum = 0;
    for (int i = 0; i < 20000; ++i) {
      byte[] block = new byte[64 + (i * seed) % 2000];
      block[i % block.length] = (byte) i;
      if (i % 50 == 0) kept.add(block);
      sum += block.length;
    }
    return sum + kept.size();
  }

  private static void recurse() {
    ++depth;
    recurse();
  }

  // A null pointer and a guard page are found by SIGSEGV, a division by SIGFPE.
  private static String errors(int rounds) {
    int caught = 0;
    for (int i = 0; i < 20000 * rounds; ++i) {
      try {
        String nothing = i % 2 == 0 ? null : "x";
        caught += nothing.length() - 1;
      } catch (NullPointerException e) {
        ++caught;
      }
    }
    try {
      recurse();
    } catch (StackOverflowError e) {
      ++caught;
    }
    try {
      System.out.println(1 / (depth - depth));
    } catch (ArithmeticException e) {
      ++caught;
    }
    return "caught " + caught;
  }

  private static String pools(int rounds) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> results = new ArrayList<>();
    for (int i = 0; i < 8 * rounds; ++i) {
      int seed = i + 1;
      results.add(pool.submit(() -> garbage(seed)));
    }
    long sum = 0;
    for (Future<Long> result : results) sum += result.get();
    pool.shutdown();
    Map<Long, Long> squares = new ConcurrentHashMap<>();
    LongStream.range(0, 20000 * rounds).parallel().forEach(n -> squares.put(n, n * n));
    return sum + " " + squares.values().stream().mapToLong(n -> n).sum();
  }

  private static String direct() throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(8 << 20);
    for (int i = 0; i < buffer.capacity(); i += 4096) buffer.put(i, (byte) i);
    Files.write(Path.of("written"), new byte[100000]);
    return buffer.get(4096) + " " + Files.size(Path.of("written"));
  }

  private static String child() throws Exception {
    Process process = new ProcessBuilder("sh", "-c", "echo out; exit 4").start();
    String out = new String(process.getInputStream().readAllBytes()).trim();
    return out + " " + process.waitFor();
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    Map<String, String> seen = new TreeMap<>();
    Thread thread = new Thread(() -> seen.put("thread", Long.toString(garbage(3))));
    thread.start();
    thread.join();
    seen.put("pools", pools(rounds));
    seen.put("errors", errors(rounds));
    seen.put("direct", direct());
    seen.put("child", child());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
    System.out.println(seen);
    System.exit(7);
  }
}
