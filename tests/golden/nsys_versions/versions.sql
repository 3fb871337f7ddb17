CREATE TABLE StringIds_V2 (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds_V2 VALUES (1, 'gemm'), (4, 'cudaLaunchKernel_v7000'), (5, 'train_step'), (6, 'cross_thread_span');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100000, 150000, 0, 1, 7, 1, 72057610815143936, 1, 32, 1, 1, 32, 1, 1), (200000, 250000, 0, 1, 7, 2, 72057610815143936, 1, 32, 1, 1, 32, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME_V3 (start, end, globalTid, correlationId, nameId, returnValue);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME_V3 VALUES (90000, 95000, 72057610815144937, 1, 4, 0), (190000, 195000, 72057610815144937, 2, 4, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, returnValue);
CREATE TABLE NVTX_EVENTS_V2 (start, end, eventType, globalTid, endGlobalTid, textId, domainId);
INSERT INTO NVTX_EVENTS_V2 VALUES (80000, 380000, 59, 72057610815144937, NULL, 5, 0), (85000, 700000, 60, 72057610815144937, 72057610815144938, 6, 0);
